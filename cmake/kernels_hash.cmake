# cmake -DKINDS="host;..." -DFLAGS=... -DROOT=... -DOUT=x.c -P kernels_hash.cmake:
# kernels_hash() of targets/kernels.h. Names are relative to ROOT and sorted, so
# the same sources give the same hash wherever they lie. What kernels are tried
# on (costmodel/seeded.c) decides who is right, and so counts.
function(hash_of result)
	set(all "${FLAGS}")
	foreach(pattern ${ARGN})
		file(GLOB files RELATIVE ${ROOT} ${ROOT}/${pattern})
		list(SORT files)
		foreach(file ${files})
			file(SHA256 ${ROOT}/${file} sum)
			string(APPEND all " ${file}=${sum}")
		endforeach()
	endforeach()
	string(SHA256 sum "${all}")
	string(SUBSTRING ${sum} 0 16 sum)
	set(${result} ${sum} PARENT_SCOPE)
endfunction()

set(rows "")
foreach(kind ${KINDS})
	hash_of(sum targets/${kind}/*.c targets/${kind}/*.h targets/${kind}/*.def
		targets/*.c targets/*.h costmodel/seeded.c)
	string(APPEND rows "	{\"${kind}\", \"${sum}\"},\n")
endforeach()
hash_of(sum targets/convert.c targets/convert.h targets/format.c
	targets/dnnl/reorder.c)
string(APPEND rows "	{\"convert\", \"${sum}\"},\n")
file(WRITE ${OUT} "#include \"targets/kernels.h\"

#include <stddef.h>
#include <string.h>

static const struct {
	const char *kind, *hash;
} made[] = {
${rows}};

const char *
kernels_hash(const char *kind)
{
	for (size_t i = 0; i < sizeof made / sizeof *made; i++)
		if (strcmp(made[i].kind, kind) == 0)
			return made[i].hash;
	return NULL;
}
")
