// The page of a bot's text on a contest's site: the site draws its head, this fills the rest.

import { mount } from 'svelte'
import './lib/early'
import { site } from './lib/bench'
import Code from './ui/Code.svelte'
import './tokens.css'
import './ui/style.css'

const target = document.getElementById('code')
if (target) mount(Code, { target, props: { bench: site() } })
