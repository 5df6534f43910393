from marquetry import marq

marq()
