// What a page tells while somebody writes in it. Each topic has one note of its own, so that good news of one never erases
// bad news of another.

/** A text that stays until its topic has something else to say. */
export interface Note {
  topic: string
  text: string
  bad: boolean
}

export class Notes {
  private all = $state.raw<readonly Note[]>([])

  /** Says something about a topic, in place of what was said about it before. */
  say(topic: string, text: string, bad = false): void {
    this.all = [...this.all.filter((note) => note.topic !== topic), { topic, text, bad }]
  }

  /** Says nothing more about a topic. */
  clear(topic: string): void {
    this.all = this.all.filter((note) => note.topic !== topic)
  }

  /** What is bad stands first. */
  get shown(): readonly Note[] {
    return [...this.all.filter(({ bad }) => bad), ...this.all.filter(({ bad }) => !bad)]
  }
}
