"""Makes the expected numbers of tests/ratings.rs with choix 0.4.1, an independent implementation.

    python3 -m venv venv && venv/bin/pip install choix==0.4.1 && venv/bin/python choix_expected.py

Prints logarithms of strengths with mean 0. choix knows no ties. Its `alpha` subtracts alpha times the sum
of squares, which is a normal prior of variance 1 / (2 alpha).
"""

import choix

# WINS[i][j]: how often i won against j.
WINS = [[0, 7, 9, 4], [3, 0, 6, 8], [1, 5, 0, 6], [2, 2, 7, 0]]
PAIRS = [(i, j) for i in range(4) for j in range(4) for _ in range(WINS[i][j])]

# Each row is a match of four of five bots, best first.
RANKINGS = [
    [0, 1, 2, 3], [1, 0, 3, 4], [0, 2, 4, 1], [2, 0, 3, 4], [3, 1, 0, 2], [4, 0, 1, 3],
    [1, 2, 4, 3], [0, 3, 2, 4], [2, 1, 0, 4], [0, 4, 1, 2], [3, 2, 1, 4], [1, 4, 3, 0],
]

# Never beaten: only a prior keeps 0 finite.
PERFECT = [(0, 1)] * 5 + [(1, 2)] * 3 + [(2, 1)]


def show(name, params):
    params = params - params.mean()
    print(f"const {name}: [f64; {len(params)}] = [{', '.join(f'{p:.12f}' for p in params)}];")


exact = {"max_iter": 10_000, "tol": 1e-14}
show("BRADLEY_TERRY", choix.ilsr_pairwise(4, PAIRS, **exact))
show("BRADLEY_TERRY_PRIOR", choix.opt_pairwise(4, PAIRS, alpha=0.25, tol=1e-14))
show("PLACKETT_LUCE", choix.ilsr_rankings(5, RANKINGS, **exact))
show("PLACKETT_LUCE_PRIOR", choix.opt_rankings(5, RANKINGS, alpha=0.25, tol=1e-14))
show("PERFECT", choix.opt_pairwise(3, PERFECT, alpha=0.02, tol=1e-14))
