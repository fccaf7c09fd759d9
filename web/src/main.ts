import { mount } from 'svelte'
import { prepare } from './lib/load'
import { readPlace } from './lib/place'
import App from './ui/App.svelte'
import './tokens.css'
import './ui/style.css'

prepare(readPlace(location.hash))
mount(App, { target: document.body })
