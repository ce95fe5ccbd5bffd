/** Where the bytes lie, below the origin: they are not part of the interface and need no key. */
export const OBJECTS_PATH = '/objects';
export const ASSETS_PATH = '/assets';
