/**
 * A short form of a sentence of the specification. `unseen` says why no client can observe whether it holds. Sentences
 * that say "not shown" represent our decisions; contract rules cover them.
 */
export type Sentence = string | { readonly text: string; readonly unseen: string };

export type Sentences = Readonly<Record<string, Sentence>>;
