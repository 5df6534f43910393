"""schema.py SCHEMA FILE...: each FILE is JSON that keeps the JSON Schema. Knows
the words that the schemas of share/schema use; any other is a mistake."""
import json
import re
import sys

TYPES = {"object": dict, "array": list, "string": str, "integer": int, "number": (int, float),
         "boolean": bool, "null": type(None)}


def is_of(value, kind):
    return isinstance(value, TYPES[kind]) and (kind == "boolean" or not isinstance(value, bool))


class Schema:
    def __init__(self, path):
        with open(path, encoding="utf-8") as f:
            self.root = json.load(f)

    def check(self, value, rule=None, path="$"):
        rule = dict(self.root if rule is None else rule)
        if "$ref" in rule:
            return self.check(value, self.root["$defs"][rule["$ref"].rsplit("/", 1)[1]], path)
        for word in ("$schema", "$id", "title", "$defs"):
            rule.pop(word, None)
        kinds = rule.pop("type", None)
        if kinds:
            kinds = [kinds] if isinstance(kinds, str) else kinds
            assert any(is_of(value, kind) for kind in kinds), (path, kinds, value)
        least = rule.pop("minimum", None)
        assert least is None or value >= least, (path, value)
        assert value in rule.pop("enum", [value]), (path, value)
        assert value == rule.pop("const", value), (path, value)
        pattern = rule.pop("pattern", "")
        assert not isinstance(value, str) or re.search(pattern, value), (path, value)
        members, closed = rule.pop("properties", {}), rule.pop("additionalProperties", True) is False
        for key in rule.pop("required", []):
            assert key in value, f"{path} lacks {key}"
        items = rule.pop("items", None)
        assert not rule, f"{path}: the schema has {list(rule)}, which this does not know"
        if isinstance(value, dict):
            for key, x in value.items():
                assert key in members or not closed, f"{path} has {key}"
                if key in members:
                    self.check(x, members[key], f"{path}.{key}")
        if items:
            for i, x in enumerate(value):
                self.check(x, items, f"{path}[{i}]")


def main():
    schema = Schema(sys.argv[1])
    for name in sys.argv[2:]:
        with open(name, encoding="utf-8") as f:
            schema.check(json.load(f))


if __name__ == "__main__":
    main()
