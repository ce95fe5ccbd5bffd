/** JSON as the document is made of. */
export type JsonObject = Readonly<Record<string, unknown>>;
