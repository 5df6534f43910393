/* The rules by number: rows of upstream's pattern table, in its order. */
#ifndef TARGETS_MRVL_RULE_IDS_H
#define TARGETS_MRVL_RULE_IDS_H

enum mrvl_rule {
	RULE_CONV,
	RULE_FC,
	RULE_MAXPOOL,
	RULE_AVGPOOL,
	RULE_GLOBALAVGPOOL,
	RULE_GLOBALMAXPOOL,
	RULE_SUM,
	RULE_CONCAT,
	RULE_LAYOUT,
	RULE_RESHAPE,
	RULE_FLATTEN,
	RULE_SQUEEZE,
	/* of models that arrive quantised, with quantize=int8 */
	RULE_QCONV,
	RULE_QUANTIZE,
	RULE_DEQUANTIZE,
	NRULES
};

#endif
