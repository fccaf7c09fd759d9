import { mount } from 'svelte'
import './lib/early'
import App from './ui/App.svelte'
import './tokens.css'
import './ui/style.css'

// On a contest's site the page of a bot's text is a part of a page that the site draws.
const code = document.getElementById('code')
mount(App, { target: code ?? document.body, props: { site: code !== null } })
