// One of our rules' matches, as its model in memory says it.
#ifndef PLUGINS_ACL_REGION_HH
#define PLUGINS_ACL_REGION_HH

#include <cstdint>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

#include <marq_plugin.h>

// Why a region cannot be taken: what() is the refusal.
struct refusal : std::runtime_error {
	using std::runtime_error::runtime_error;
};

[[noreturn]] void refuse(const std::string &why);

struct constant {
	std::vector<int64_t> dim;
	std::vector<float> at;
};

// A node: its constants by the place of the input.
struct step {
	std::string type;
	std::map<std::string, std::vector<int64_t>> ints;
	std::map<std::string, float> number;
	std::string auto_pad;
	std::map<size_t, constant> constants;

	bool has(size_t input) const { return constants.count(input) != 0; }
	int64_t integer(const std::string &name, int64_t otherwise) const;
	float real(const std::string &name, float otherwise) const;
	// Of an attribute with a number for height and one for width.
	int64_t side(const std::string &name, size_t i, int64_t otherwise) const;
};

// A chain of nodes with one input and one output; the first is what rules are
// named after.
struct region {
	std::vector<step> steps;
	std::vector<int64_t> in, out;
	int64_t opset;
};

region read_region(const marq_region *r);

#endif
