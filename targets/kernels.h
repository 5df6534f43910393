/* Of what our own kernels were made. */
#ifndef TARGETS_KERNELS_H
#define TARGETS_KERNELS_H

/* A hash of the sources and compiler flags of a kind's kernels ("host", "dnnl",
 * ...; "convert": of conversions) and of what they share; NULL for kinds
 * without any. Defined by a file that cmake/kernels.cmake makes. */
const char *kernels_hash(const char *kind);

#endif
