/* Graphs of tests, written as a text: statements separated by ';'.
 *
 *	x[2,3,8]                    an input
 *	y = Div(x, 1.5)             a node; numbers are scalar constants
 *	a, b = Split(x){axis=-1}    attributes: integers, lists, "texts", floats
 *	z = Reshape(x, [0, -1])     lists are constants of integers
 *	w = Conv(x, #8x3x3x3, _)    random weights; _ is left out
 *	v = Mul(x, #3:1.0)          all of them 1
 *	t = #5x4                    a constant with a name
 *	p = Add(s, #5x6:causal)     a mask of make_triangle(); bool: seen, hidden */
#ifndef TESTS_SUPPORT_SPELL_H
#define TESTS_SUPPORT_SPELL_H

#include "tests/support/make.h"

/* Adds what the text says; the value made last. Ends the process with the place
 * of what it does not understand. */
value_id spell(struct maker *m, const char *text);

#endif
