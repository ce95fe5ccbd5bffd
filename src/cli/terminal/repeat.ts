/** Calls a function at an interval until the returned function is called; passed in so that tests can replace it. */
export type Repeat = (everyMs: number, call: () => void) => () => void;

/** Uses system timers, which do not keep the process alive. */
export const repeatWithTimer: Repeat = (everyMs, call) => {
  const timer = setInterval(call, everyMs).unref();
  return () => clearInterval(timer);
};
