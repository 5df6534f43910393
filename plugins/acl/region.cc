#include "plugins/acl/region.hh"

#include <cstring>
#include <memory>

#include "ir/onnx.pb-c.h"

using model = std::unique_ptr<Onnx__ModelProto, void (*)(Onnx__ModelProto *)>;

void
refuse(const std::string &why)
{
	throw refusal(why);
}

int64_t
step::integer(const std::string &name, int64_t otherwise) const
{
	return side(name, 0, otherwise);
}

float
step::real(const std::string &name, float otherwise) const
{
	const auto found = number.find(name);

	return found == number.end() ? otherwise : found->second;
}

int64_t
step::side(const std::string &name, size_t i, int64_t otherwise) const
{
	const auto found = ints.find(name);

	return found == ints.end() || found->second.size() <= i
	    ? otherwise
	    : found->second[i];
}

static void
close_model(Onnx__ModelProto *m)
{
	onnx__model_proto__free_unpacked(m, nullptr);
}

static constant
read_constant(const Onnx__TensorProto *t)
{
	constant c;
	size_t n = 1;

	if (t->data_type != 1)
		refuse("a constant is not float32");
	for (size_t i = 0; i < t->n_dims; i++)
		n *= static_cast<size_t>(t->dims[i]);
	c.dim.assign(t->dims, t->dims + t->n_dims);
	c.at.resize(n);
	if (t->n_float_data == n && n > 0)
		memcpy(c.at.data(), t->float_data, n * sizeof(float));
	else if (t->has_raw_data && t->raw_data.len == n * sizeof(float))
		memcpy(c.at.data(), t->raw_data.data, t->raw_data.len);
	else
		refuse("a constant is not within the model");
	return c;
}

static void
read_attribute(step &s, const Onnx__AttributeProto *a)
{
	const std::string name = a->name;

	if (a->has_i)
		s.ints[name] = {a->i};
	if (a->n_ints > 0)
		s.ints[name].assign(a->ints, a->ints + a->n_ints);
	if (a->has_f)
		s.number[name] = a->f;
	if (a->has_s && name == "auto_pad")
		s.auto_pad.assign(
		    reinterpret_cast<const char *>(a->s.data), a->s.len);
}

static step
read_step(const Onnx__GraphProto *g, const Onnx__NodeProto *n)
{
	step s;

	s.type = n->op_type;
	for (size_t i = 0; i < n->n_attribute; i++)
		read_attribute(s, n->attribute[i]);
	for (size_t i = 0; i < n->n_input; i++)
		for (size_t k = 0; k < g->n_initializer; k++)
			if (strcmp(n->input[i], g->initializer[k]->name) == 0)
				s.constants[i] =
				    read_constant(g->initializer[k]);
	return s;
}

// Each node reads what the one before it made, and nothing else that is computed.
static void
check_chain(const Onnx__GraphProto *g, const region &r)
{
	for (size_t i = 0; i < g->n_node; i++) {
		const Onnx__NodeProto *n = g->node[i];

		for (size_t k = 0; k < n->n_input; k++) {
			const bool chained = i == 0
			    ? k == 0
			    : strcmp(n->input[k], g->node[i - 1]->output[0]) == 0;

			if (*n->input[k] != '\0' && !chained
			    && !r.steps[i].has(k))
				refuse(r.steps[i].type + " reads a second tensor");
		}
	}
}

region
read_region(const marq_region *r)
{
	region out;

	if (r->ninputs != 1 || r->noutputs != 1)
		refuse("not one input and one output");
	const model m(onnx__model_proto__unpack(nullptr, r->model_bytes,
	                  static_cast<const uint8_t *>(r->model)),
	    close_model);
	if (!m || m->graph == nullptr || m->graph->n_node == 0)
		refuse("not a model");
	for (size_t i = 0; i < m->graph->n_node; i++)
		out.steps.push_back(read_step(m->graph, m->graph->node[i]));
	check_chain(m->graph, out);
	out.opset = 0;
	for (size_t i = 0; i < m->n_opset_import; i++)
		if (m->opset_import[i]->domain == nullptr
		    || *m->opset_import[i]->domain == '\0')
			out.opset = m->opset_import[i]->version;
	out.in.assign(r->input[0]->dim, r->input[0]->dim + r->input[0]->rank);
	out.out.assign(
	    r->output[0]->dim, r->output[0]->dim + r->output[0]->rank);
	return out;
}
