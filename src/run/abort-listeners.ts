/** Hears signals for any number of listeners: Node.js warns of a leak where one signal has more than ten of them. */
export class AbortListeners {
  readonly #listeners = new Map<AbortSignal, Set<() => void>>();

  /**
   * Has a listener called when the signal fires, which it has not done so far.
   *
   * @returns ends that.
   */
  add(signal: AbortSignal, listener: () => void): () => void {
    const listeners = this.#listeners.get(signal) ?? this.#hear(signal);
    listeners.add(listener);
    return () => {
      listeners.delete(listener);
      if (listeners.size > 0 || this.#listeners.get(signal) !== listeners) return;
      this.#listeners.delete(signal);
      signal.removeEventListener('abort', this.#tell);
    };
  }

  #hear(signal: AbortSignal): Set<() => void> {
    const listeners = new Set<() => void>();
    this.#listeners.set(signal, listeners);
    signal.addEventListener('abort', this.#tell);
    return listeners;
  }

  readonly #tell = ({ target }: Event): void => {
    const listeners = this.#listeners.get(target as AbortSignal);
    for (const listener of [...(listeners ?? [])]) listener();
  };
}
