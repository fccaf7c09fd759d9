/* What the system alone costs: starts two programs, asks them in turn as a match of Cultist Wars does, kills both; so many times.
 *
 *     gcc -O2 -o loop loop.c && ./loop 1000 150 ./waiter ./waiter
 *
 * The messages have the length of the game's, their figures mean nothing. Prints matches a second. */
#define _GNU_SOURCE
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <fcntl.h>

struct bot { pid_t pid; int in, out; };

static void must(int good, const char *what) {
    if (!good) { perror(what); exit(1); }
}

static struct bot start(const char *program) {
    int in[2], out[2];
    must(pipe2(in, O_CLOEXEC) == 0 && pipe2(out, O_CLOEXEC) == 0, "pipe2");
    pid_t pid = vfork();
    must(pid >= 0, "vfork");
    if (pid == 0) {
        dup2(in[0], 0);
        dup2(out[1], 1);
        execl(program, program, (char *)NULL);
        _exit(127);
    }
    close(in[0]);
    close(out[1]);
    return (struct bot){ pid, in[1], out[0] };
}

static void end(struct bot bot) {
    kill(bot.pid, SIGKILL);
    must(waitpid(bot.pid, NULL, 0) == bot.pid, "waitpid");
    close(bot.in);
    close(bot.out);
}

int main(int argc, char **argv) {
    if (argc != 5) { fprintf(stderr, "usage: %s MATCHES TURNS PROGRAM PROGRAM\n", argv[0]); return 2; }
    int matches = atoi(argv[1]), turns = atoi(argv[2]);
    /* The player's number, the size, seven rows; then each turn nine units of six figures. */
    const char *map = "0\n13 7\n.............\n.............\n.............\n.............\n.............\n.............\n.............\n";
    char units[256] = "9\n";
    for (int unit = 0; unit < 9; unit++) strcat(units, "10 1 10 11 5 0\n");
    struct timespec from, to;
    clock_gettime(CLOCK_MONOTONIC, &from);
    for (int match = 0; match < matches; match++) {
        struct bot bots[2] = { start(argv[3]), start(argv[4]) };
        for (int turn = 0; turn < turns; turn++) {
            struct bot *asked = &bots[turn % 2];
            char answer[256];
            if (turn < 2) must(write(asked->in, map, strlen(map)) > 0, "write");
            must(write(asked->in, units, strlen(units)) > 0, "write");
            must(read(asked->out, answer, sizeof answer) > 0, "read");
        }
        end(bots[0]);
        end(bots[1]);
    }
    clock_gettime(CLOCK_MONOTONIC, &to);
    double seconds = (double)(to.tv_sec - from.tv_sec) + (double)(to.tv_nsec - from.tv_nsec) / 1e9;
    printf("%.0f matches a second, %.3f ms a match\n", matches / seconds, 1000 * seconds / matches);
    return 0;
}
