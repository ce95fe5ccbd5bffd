// Loaded into a run by NODE_OPTIONS: writes down which modules it loads, for the file that VLOC_TRACE names.
import { appendFileSync } from 'node:fs';
import { registerHooks } from 'node:module';

registerHooks({
  load(url, context, nextLoad) {
    appendFileSync(process.env.VLOC_TRACE, `${url}\n`);
    return nextLoad(url, context);
  },
});
