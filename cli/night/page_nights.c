/* Nights as rows, a cell a search; and what was measured, and why. */
#include <string.h>

#include "cli/night/happened.h"
#include "cli/night/html.h"
#include "cli/night/page.h"
#include "cli/night/words.h"
#include "ir/base/file.h"
#include "ir/base/shell.h"

struct night_totals {
	uint32_t done, failed, left;
	uint64_t measured, took_ms;
};

static struct night_totals
outcome_of(const struct night *n)
{
	struct night_totals o = {.done = 0};

	for (uint32_t i = 0; i < n->nunits; i++) {
		const struct night_unit *u = &n->unit[i];

		*(!u->status.ended          ? &o.left
		        : unit_succeeded(u) ? &o.done
		                            : &o.failed) += 1;
		o.measured += u->ran ? u->status.measured : 0;
		o.took_ms += u->ran ? u->status.took_ms : 0;
	}
	return o;
}

static void
put_strip(const struct night_page *p, const struct night *n,
    const struct night_totals *o)
{
	fprintf(p->f,
	    "<span class=strip role=img aria-label=\"%u done, %u failed, %u "
	    "not run\">",
	    o->done, o->failed, o->left);
	for (uint32_t i = 0; i < n->nunits; i++) {
		const struct night_unit *u = &n->unit[i];

		fprintf(p->f, "<i class=%s></i>",
		    !u->status.ended         ? "no"
		        : !unit_succeeded(u) ? "ko"
		        : u->ran             ? "yes"
		                             : "kept");
	}
	fputs("</span>", p->f);
}

static void
put_night(const struct night_page *p, uint32_t i)
{
	const struct night *n = &p->s->history->night[i];
	const struct night_totals o = outcome_of(n);
	const char *date = night_date(n->began, p->s->a);

	fprintf(p->f, "<tr id=\"night-%u\"><th scope=row>%u</th><td class=l>",
	    n->number, n->number);
	if (i == p->s->at
	    || !file_is_absent(
	        night_path(p->s->history->out, n->number, ".html", p->s->a)))
		fprintf(p->f, "<a href=\"%s%04u.html\">%s</a>",
		    p->is_kept ? "" : "nights/", n->number, date);
	else
		fputs(date, p->f);
	fputs("</td><td class=l>", p->f);
	put_strip(p, n, &o);
	fprintf(p->f,
	    "</td><td>%u</td><td>%u</td><td>%llu</td><td>%s</td>"
	    "<td class=\"l wide\">%s</td></tr>\n",
	    o.done, o.failed, (unsigned long long)o.measured,
	    long_time(o.took_ms, p->s->a),
	    escaped(night_happened(p->s->history, i, p->s->a), p->s->a));
}

void
page_nights(const struct night_page *p, uint32_t most)
{
	const uint32_t n = p->s->at + 1;
	const uint32_t to = n > most ? n - most : 0;

	fputs("<section id=nights><h2>Nights <small>one cell a search, in the "
	      "manifest's order</small></h2><p class=leg>"
	      "<span><i class=yes></i> done</span><span><i class=kept></i> "
	      "as it was</span><span><i class=ko></i> failed</span>"
	      "<span><i class=no></i> not run</span></p><div class=scroll "
	      "tabindex=0 role=region aria-label=Nights><table class=num>"
	      "<thead><tr><th scope=col>night</th><th scope=col class=l>began"
	      "</th><th scope=col class=l>searches</th><th scope=col>done</th>"
	      "<th scope=col>failed</th><th scope=col>measured</th>"
	      "<th scope=col>took</th><th scope=col class=l>what happened</th>"
	      "</tr></thead><tbody>\n",
	    p->f);
	for (uint32_t i = n; i-- > to;)
		put_night(p, i);
	fputs("</tbody></table></div>", p->f);
	if (n > 1)
		page_command(p,
		    arena_printf(p->s->a,
		        "marq compare --night -1 --night 0 %s",
		        shell_quote(p->s->history->out, p->s->a)));
	fputs("</section>\n", p->f);
}

/* ---- what was measured ---- */

static const char *const words[NWHY] = {
#define WHY(member, words, fact) words,
#include "costmodel/why.def"
};

static void
put_measured(const struct night_page *p, const struct night_unit *u)
{
	fprintf(p->f, "<tr><th scope=row>%s</th><td>%u</td><td>%u</td>",
	    escaped(u->name, p->s->a), u->status.measured, u->status.reused);
	for (int k = 0; k < NWHY; k++)
		fprintf(
		    p->f, u->why[k] ? "<td>%u</td>" : "<td>–</td>", u->why[k]);
	fprintf(
	    p->f, "<td>%s</td></tr>\n", long_time(u->status.took_ms, p->s->a));
}

void
page_measured(const struct night_page *p)
{
	const struct night *n = p->s->night;

	fputs("<section id=measured><h2>What was measured, and why <small>"
	      "a price is measured once for a shape, its attributes, a library "
	      "and a CPU</small></h2>\n",
	    p->f);
	if (p->s->measured == 0) {
		fprintf(p->f,
		    "<p>Nothing was measured; %llu prices were reused.</p>"
		    "</section>\n",
		    (unsigned long long)p->s->reused);
		return;
	}
	fputs("<div class=scroll tabindex=0 role=region "
	      "aria-label=\"What was measured\"><table class=num><thead><tr>"
	      "<th scope=col>search</th><th scope=col>measured</th>"
	      "<th scope=col>reused</th>",
	    p->f);
	for (int k = 0; k < NWHY; k++)
		fprintf(p->f, "<th scope=col>%s</th>", words[k]);
	fputs("<th scope=col>took</th></tr></thead><tbody>\n", p->f);
	for (uint32_t i = 0; i < n->nunits; i++)
		if (n->unit[i].ran && n->unit[i].status.measured)
			put_measured(p, &n->unit[i]);
	fputs("</tbody></table></div></section>\n", p->f);
}
