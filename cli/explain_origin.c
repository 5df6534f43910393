#include "cli/explain_origin.h"

#include <cjson/cJSON.h>
#include <string.h>

#include "cli/answer.h"
#include "cli/members.h"
#include "ir/base/nearest.h"

struct origins {
	const cJSON *map;
	struct answer answer;
	struct arena *arena;
	const char *what;
	struct nearest near;
	uint32_t found;
};

/* ---- the way back ---- */

/* By its number; NULL: there is none. */
static const cJSON *
numbered(const struct origins *o, const char *list, const cJSON *id)
{
	return cJSON_IsNumber(id) && id->valuedouble >= 0
	        && id->valuedouble < 1e9
	    ? cJSON_GetArrayItem(member(o->map, list), (int)id->valuedouble)
	    : NULL;
}

static const char *
line_of(const struct origins *o, const cJSON *onnx)
{
	const cJSON *line = numbered(o, "lines", member(onnx, "line"));

	return line ? arena_printf(o->arena, "%s:%.0f", text_of(line, "file"),
	           number_of(line, "line"))
	            : "";
}

/* part: which node of the function's body that the node calls; or NULL. */
static void
tell_onnx(
    struct origins *o, const cJSON *onnx, const cJSON *part, const char *how)
{
	const cJSON *scope = numbered(o, "scopes", member(onnx, "scope"));

	ANSWER_LINE(&o->answer,
	    "  {how} {name} ({op_type}, ONNX node {index}{?graph  of "
	    "{graph}}){?path , at {path}}{?module , module {module}}"
	    "{?line , {line}}\n",
	    T("how", how), F("name", text_of(onnx, "name")),
	    F("op_type", text_of(onnx, "op_type")),
	    F("index", exact_of(onnx, "index")),
	    F("graph", text_of(onnx, "graph")),
	    F("path", text_of(part ? part : onnx, "path")),
	    F("module", scope ? text_of(scope, "path") : ""),
	    F("line", line_of(o, onnx)));
}

static void
tell_nodes(struct origins *o, const cJSON *ids)
{
	const cJSON *id, *link;

	answer_list(&o->answer, "onnx");
	cJSON_ArrayForEach(id, ids)
	{
		const cJSON *node = numbered(o, "nodes", id);
		const cJSON *links = node ? member(node, "onnx") : NULL;

		cJSON_ArrayForEach(link, links)
		{
			const cJSON *x =
			    numbered(o, "onnx", member(link, "id"));

			if (x)
				tell_onnx(o, x,
				    numbered(o, "parts", member(link, "part")),
				    "from");
		}
	}
	answer_close(&o->answer);
}

static bool
has_word(const cJSON *list, const char *word)
{
	const cJSON *x;

	cJSON_ArrayForEach(x, list) if (cJSON_IsString(x)
	    && strcmp(x->valuestring, word) == 0) return true;
	return false;
}

/* A constant of the graph: an initialiser, or what nodes were folded to. */
static void
tell_value(struct origins *o, const char *name)
{
	const cJSON *x;

	cJSON_ArrayForEach(x, member(o->map, "initialisers"))
	{
		if (strcmp(text_of(x, "name"), name) == 0)
			ANSWER_LINE(&o->answer,
			    "  from initialiser '{initialiser}'\n",
			    F("initialiser", name));
	}
	cJSON_ArrayForEach(x, member(o->map, "onnx"))
	{
		if (has_word(member(x, "outputs"), name))
			tell_onnx(o, x, NULL, "folded from");
	}
}

/* ---- what there is ---- */

/* Is it what is asked about? Begins its row then. */
static bool
is_asked(struct origins *o, const char *name)
{
	if (!*name)
		return false;
	nearest_try(&o->near, name);
	if (strcmp(name, o->what) != 0)
		return false;
	o->found++;
	answer_row(&o->answer);
	return true;
}

static const char *
region_name(const struct origins *o, const cJSON *of)
{
	const cJSON *region = numbered(o, "regions", member(of, "region"));

	return region ? text_of(region, "name") : "";
}

static void
look_at_regions(struct origins *o)
{
	const cJSON *x, *c;

	cJSON_ArrayForEach(x, member(o->map, "regions"))
	{
		double id = number_of(x, "id");
		const char *file = arena_printf(o->arena, "host/%.0f.onnx", id);

		if (!is_asked(o,
		        strcmp(o->what, file) == 0 ? file : text_of(x, "name")))
			continue;
		ANSWER(&o->answer, "{name} is a region on {target}\n",
		    F("kind", "region"), F("name", o->what),
		    F("target", text_of(x, "target")));
		answer_list(&o->answer, "composites");
		cJSON_ArrayForEach(c, member(o->map, "composites"))
		{
			if (number_of(c, "region") != id)
				continue;
			answer_row(&o->answer);
			ANSWER(&o->answer, " composite {id}, {rule}\n",
			    F("id", exact_of(c, "id")),
			    F("rule", text_of(c, "rule")));
			tell_nodes(o, member(c, "nodes"));
			answer_close(&o->answer);
		}
		answer_close(&o->answer);
		answer_close(&o->answer);
	}
}

static void
tell_constant(struct origins *o, const cJSON *layer, const cJSON *constant)
{
	const cJSON *v;

	ANSWER(&o->answer,
	    "{name} is a constant of {layer} in region {region}\n",
	    F("kind", "constant"), F("name", o->what),
	    F("layer", text_of(layer, "func_name")),
	    F("region", region_name(o, layer)));
	answer_list(&o->answer, "values");
	cJSON_ArrayForEach(v, member(constant, "values")) if (cJSON_IsString(v))
	    tell_value(o, v->valuestring);
	answer_close(&o->answer);
	tell_nodes(o, member(layer, "nodes"));
	answer_close(&o->answer);
}

static void
look_at_layers(struct origins *o)
{
	const cJSON *x, *c;

	cJSON_ArrayForEach(x, member(o->map, "layers"))
	{
		if (is_asked(o, text_of(x, "func_name"))) {
			ANSWER(&o->answer,
			    "{name} is a layer of {symbol}, region "
			    "{region}{made}\n",
			    F("kind", "layer"), F("name", o->what),
			    F("symbol", text_of(x, "symbol")),
			    F("region", region_name(o, x)),
			    T("made",
			        cJSON_GetArraySize(member(x, "nodes")) > 0
			            ? ""
			            : ", inserted: it changes a layout"));
			tell_nodes(o, member(x, "nodes"));
			answer_close(&o->answer);
		}
		cJSON_ArrayForEach(c, member(x, "constants"))
		{
			if (is_asked(o, text_of(c, "name")))
				tell_constant(o, x, c);
		}
	}
}

/* What a package calls: the instruction buffer of a region, by its symbol, too. */
static void
look_at_functions(struct origins *o)
{
	const cJSON *x;

	cJSON_ArrayForEach(x, member(o->map, "functions"))
	{
		const char *symbol = text_of(x, "symbol");

		if (!is_asked(o,
		        strcmp(symbol, o->what) == 0 ? symbol
		                                     : text_of(x, "name")))
			continue;
		ANSWER(&o->answer,
		    "{name} is what {package} runs {?operation {operation} "
		    "with}{!operation region {region} with}\n",
		    F("kind", "function"), F("name", o->what),
		    F("package", text_of(x, "package")),
		    F("operation", text_of(x, "operation")),
		    F("region", region_name(o, x)));
		tell_nodes(o, member(x, "nodes"));
		answer_close(&o->answer);
	}
}

static void
look_at_inserted(struct origins *o)
{
	const cJSON *x, *n;

	cJSON_ArrayForEach(x, member(o->map, "inserted"))
	{
		const char *value = text_of(x, "value");

		if (!is_asked(o, text_of(x, "name")))
			continue;
		ANSWER(&o->answer,
		    "{name} is a {op_type} that was inserted, of value "
		    "'{value}'\n",
		    F("kind", "inserted"), F("name", o->what),
		    F("op_type", text_of(x, "op_type")), F("value", value));
		answer_list(&o->answer, "values");
		cJSON_ArrayForEach(n,
		    member(o->map, "onnx")) if (has_word(member(n, "outputs"),
		                                    value))
		    tell_onnx(o, n, NULL, "made by");
		answer_close(&o->answer);
		answer_close(&o->answer);
	}
}

/* The other way: what an initialiser became. */
static void
look_at_initialisers(struct origins *o)
{
	const cJSON *x, *n, *c, *into;

	cJSON_ArrayForEach(x, member(o->map, "initialisers"))
	{
		if (!is_asked(o, text_of(x, "name")))
			continue;
		into = numbered(o, "onnx", member(x, "into"));
		ANSWER(&o->answer,
		    "{name} is an initialiser of the model, {fate}\n",
		    F("kind", "initialiser"), F("name", o->what),
		    F("fate", text_of(x, "fate")));
		answer_list(&o->answer, "onnx");
		if (into)
			tell_onnx(o, into,
			    numbered(o, "parts", member(x, "into_part")),
			    "part of what is read by");
		cJSON_ArrayForEach(n, member(x, "nodes"))
		{
			const cJSON *node =
			    numbered(o, "nodes", member(n, "node"));
			const cJSON *reader = node
			    ? numbered(o, "onnx",
			        member(
			            cJSON_GetArrayItem(member(node, "onnx"), 0),
			            "id"))
			    : NULL;

			if (reader)
				tell_onnx(o, reader, NULL, "read by");
		}
		answer_close(&o->answer);
		answer_list(&o->answer, "constants");
		cJSON_ArrayForEach(c, member(x, "constants"))
		    ANSWER_LINE(&o->answer, "  part of {constant}\n",
		        F("constant", text_of(c, "name")));
		answer_close(&o->answer);
		answer_close(&o->answer);
	}
}

/* Where what a node became runs. */
static void
tell_places(struct origins *o, const cJSON *links)
{
	const cJSON *link;

	answer_list(&o->answer, "places");
	cJSON_ArrayForEach(link, links)
	{
		const cJSON *node = numbered(o, "nodes", member(link, "node"));
		const cJSON *composite = node
		    ? numbered(o, "composites", member(node, "composite"))
		    : NULL;

		if (composite)
			ANSWER_LINE(&o->answer,
			    "  {?inside in a body of}{!inside as} {node} on "
			    "{target}, region {region}\n",
			    F("node", text_of(node, "label")),
			    F("target", text_of(composite, "target")),
			    F("region", region_name(o, composite)),
			    T("inside", cJSON_IsTrue(member(link, "inside"))));
	}
	answer_close(&o->answer);
}

/* Nodes of bodies, by name or path: what they became. */
static void
look_at_bodies(struct origins *o, const char *list)
{
	const cJSON *x, *into;

	cJSON_ArrayForEach(x, member(o->map, list))
	{
		const char *path = text_of(x, "path");
		const char *name = text_of(x, "name");

		if (!*path
		    || !is_asked(o, strcmp(name, o->what) == 0 ? name : path))
			continue;
		into = numbered(o, "onnx", member(x, "into"));
		ANSWER(&o->answer,
		    "{path} is a node of a body ({op_type}), {fate}{?why : "
		    "{why}}\n",
		    F("kind", "node"), F("name", o->what), F("path", path),
		    F("op_type", text_of(x, "op_type")),
		    F("fate", text_of(x, "fate")), F("why", text_of(x, "why")));
		answer_list(&o->answer, "onnx");
		if (into)
			tell_onnx(o, into,
			    numbered(o, "parts", member(x, "into_part")),
			    "part of what is read by");
		answer_close(&o->answer);
		tell_places(o, member(x, "nodes"));
		answer_close(&o->answer);
	}
}

bool
explain_origin(
    const struct cli *c, const cJSON *map, const char *what, struct err *err)
{
	struct origins o = {
	    .map = map, .arena = c->run, .what = what, .near = {.word = what}};

	answer_begin(&o.answer, c, "marq.explain/2");
	answer_list(&o.answer, "origins");
	look_at_regions(&o);
	look_at_functions(&o);
	look_at_layers(&o);
	look_at_inserted(&o);
	look_at_initialisers(&o);
	look_at_bodies(&o, "parts");
	look_at_bodies(&o, "onnx");
	answer_close(&o.answer);
	if (o.found == 0)
		return err_set(err, ERR_USAGE,
		    "no region, function, layer, constant, conversion, "
		    "initialiser or node of a body of the result is called "
		    "'%s'%s",
		    what, nearest_text(&o.near, o.arena));
	answer_end(&o.answer);
	return true;
}
