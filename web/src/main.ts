import { mount } from 'svelte'
import './lib/early'
import App from './ui/App.svelte'
import './tokens.css'
import './ui/style.css'

mount(App, { target: document.body })
