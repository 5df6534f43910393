# cmake -DIN=a/report.js -DOUT=x.c -DHEADER=emit/report/assets.h -P embed.cmake: the file
# as the bytes of `const unsigned char asset_report_js[]`, and their number.
get_filename_component(name ${IN} NAME)
string(REPLACE "." "_" name ${name})
file(READ ${IN} hex HEX)
string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${hex}")
file(WRITE ${OUT} "#include \"${HEADER}\"\n"
	"const unsigned char asset_${name}[] = {${bytes}};\n"
	"const size_t asset_${name}_size = sizeof asset_${name};\n")
