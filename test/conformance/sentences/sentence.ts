/**
 * A sentence of the specification in short. With `unseen`, why no client can tell whether it holds.
 * Sentences that say "not shown" stand for what we decided in their place; contract rules cover them.
 */
export type Sentence = string | { readonly text: string; readonly unseen: string };

export type Sentences = Readonly<Record<string, Sentence>>;
