/** Chance that can be repeated: the same seed makes the same choices. */
export interface Random {
  /** A fraction in [0, 1). */
  fraction(): number;
  /** A whole number from `low` to `high`, both included. */
  between(low: number, high: number): number;
  /** True in that share of the calls. */
  chance(share: number): boolean;
  /** One of them; throws when there is none. */
  pick<T>(choices: readonly T[]): T;
}

/** Mulberry32: 32 bits of state are plenty for choices, and it fits in a few lines. */
export function createRandom(seed: number): Random {
  let state = seed >>> 0;
  const fraction = () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  return {
    fraction,
    between: (low, high) => low + Math.floor(fraction() * (high - low + 1)),
    chance: (share) => fraction() < share,
    pick(choices) {
      const choice = choices[Math.floor(fraction() * choices.length)];
      if (choice === undefined) throw new Error('there is nothing to pick from');
      return choice;
    },
  };
}
