/** Shares one reading of the store among the requests that arrive together. */

interface OncePerTurn<Value> {
  /** Returns the value without a promise if it was already read in this turn, because waiting costs each request. */
  get(): Value | Promise<Value>;
  /** Makes the next request read again. */
  forget(): void;
}

interface Turn<Value> {
  readonly reading: Promise<Value>;
  value: Value | null;
}

/** Calls `read` at most once in a turn of the event loop, in which at most one read from each socket happens. */
export function oncePerTurn<Value extends object>(read: () => Promise<Value>): OncePerTurn<Value> {
  let current: Turn<Value> | null = null;
  const forget = () => {
    current = null;
  };
  const begin = () => {
    const turn: Turn<Value> = { reading: read(), value: null };
    const keep = (value: Value) => {
      turn.value = value;
    };
    // Its error goes to the requests that wait for it.
    turn.reading.then(keep, () => {});
    // Runs before more data is read from a socket.
    setImmediate(forget);
    current = turn;
    return turn;
  };
  return {
    get() {
      const turn = current ?? begin();
      return turn.value ?? turn.reading;
    },
    forget,
  };
}
