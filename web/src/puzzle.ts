// The script of a contest's pages of puzzles: a puzzle to answer, a match to search for one, or all lost matches to search.

import { mount } from 'svelte'
import Puzzle from './ui/Puzzle.svelte'
import Search from './ui/Search.svelte'

const told = JSON.parse(document.getElementById('told')?.textContent ?? '{}') as never
const [puzzle, search] = [document.getElementById('puzzle'), document.getElementById('search')]
if (puzzle) mount(Puzzle, { target: puzzle, props: { told } })
else if (search && search.dataset.open !== '0') mount(Search, { target: search, props: { told } })
