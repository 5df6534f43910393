/* Numbers of TVM's stream format. SOURCE: ndarray.h, dlpack.h. */
#ifndef TARGETS_MRVL_DEVICE_STREAM_H
#define TARGETS_MRVL_DEVICE_STREAM_H

#include <stdint.h>

#define STREAM_LIST UINT64_C(0xF7E58D4F05049CB7)
#define STREAM_ARRAY UINT64_C(0xDD5E40F096B4A13F)
#define STREAM_CPU 1u

enum { STREAM_INT = 0, STREAM_UINT = 1, STREAM_FLOAT = 2, STREAM_BFLOAT = 4 };

#endif
