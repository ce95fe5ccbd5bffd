/** Gives packages the `string-width` that they have in the bundle. For `node --import`. */
import { registerHooks } from 'node:module';

const { href: url } = new URL('../../build/string-width.cjs', import.meta.url);

registerHooks({
  resolve: (name, context, resolve) =>
    name === 'string-width' ? { url, shortCircuit: true } : resolve(name, context),
});
