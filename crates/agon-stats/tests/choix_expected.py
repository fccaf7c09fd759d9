"""Makes the expected numbers of tests/ratings.rs with choix 0.4.1, an independent implementation.

    python3 -m venv venv && venv/bin/pip install choix==0.4.1 && venv/bin/python choix_expected.py

Prints logarithms of strengths with mean 0. choix knows no ties.
"""

import choix

# WINS[i][j]: how often i won against j.
WINS = [[0, 7, 9, 4], [3, 0, 6, 8], [1, 5, 0, 6], [2, 2, 7, 0]]
PAIRS = [(i, j) for i in range(4) for j in range(4) for _ in range(WINS[i][j])]

params = choix.ilsr_pairwise(4, PAIRS, max_iter=10_000, tol=1e-14)
params = params - params.mean()
print(f"const BRADLEY_TERRY: [f64; {len(params)}] = [{', '.join(f'{p:.12f}' for p in params)}];")
