/* Answers WAIT whenever a unit list has come: the quickest possible bot of Cultist Wars. */
#include <stdio.h>
#include <stdlib.h>
int main(void) {
    char line[256];
    for (int i = 0; i < 9; i++) if (!fgets(line, sizeof line, stdin)) return 0;
    while (fgets(line, sizeof line, stdin)) {
        for (int n = atoi(line); n > 0; n--) if (!fgets(line, sizeof line, stdin)) return 0;
        puts("WAIT");
        fflush(stdout);
    }
    return 0;
}
