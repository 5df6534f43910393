#include "bench/common/peer.h"

#include <inttypes.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static bool
start(struct peer *p, char *const argv[])
{
	int to[2], from[2];

	if (pipe(to) != 0)
		return false;
	if (pipe(from) != 0) {
		close(to[0]);
		close(to[1]);
		return false;
	}
	fflush(NULL);
	p->pid = fork();
	if (p->pid == 0) {
		dup2(to[0], 0);
		dup2(from[1], 1);
		dup2(from[1], 2); /* its last words are the reason */
		close(to[1]);
		close(from[0]);
		execvp(argv[0], argv);
		printf("%s: cannot be started\n", argv[0]);
		fflush(stdout);
		_exit(127);
	}
	close(to[0]);
	close(from[1]);
	p->to = fdopen(to[1], "w");
	p->from = fdopen(from[0], "r");
	return p->pid > 0;
}

bool
peer_open(struct peer *p, char *const argv[])
{
	char line[512] = "";

	*p = (struct peer){.pid = 0};
	snprintf(p->name, sizeof p->name, "no answer");
	if (!start(p, argv))
		return false;
	while (fgets(line, sizeof line, p->from)) {
		line[strcspn(line, "\n")] = '\0';
		if (strncmp(line, "ready ", 6) == 0) {
			snprintf(p->name, sizeof p->name, "%.100s", line + 6);
			return true;
		}
		snprintf(p->name, sizeof p->name, "%.120s", line);
	}
	peer_close(p);
	return false;
}

bool
peer_run(struct peer *p, uint32_t n, int64_t *took)
{
	if (fprintf(p->to, "%" PRIu32 "\n", n) < 0 || fflush(p->to) != 0)
		return false;
	for (uint32_t i = 0; i < n; i++)
		if (fscanf(p->from, "%" SCNd64, &took[i]) != 1)
			return false;
	return true;
}

void
peer_close(struct peer *p)
{
	if (p->to)
		fclose(p->to);
	if (p->from)
		fclose(p->from);
	if (p->pid > 0)
		waitpid(p->pid, NULL, 0);
	p->to = p->from = NULL;
	p->pid = 0; /* its name stays: it may be the reason */
}
