import { type Command, defineCommand } from '../context/command.ts';
import { OPERATIONS, VERSION_PREFIX } from '../protocol/operations.ts';

export const schema: Command = defineCommand({
  options: {},
  examples: [
    { command: 'vloc schema > openapi.json', explains: 'the OpenAPI document of the interface' },
    { command: 'vloc schema --output id', explains: 'the names of all operations' },
  ],
  notes: [
    'No service is needed. VLOC_BASE_URL and VLOC_HEADER_PREFIX go into the document when they are set.',
  ],
  run: async ({ io, output, print }) => {
    if (output === 'id') {
      for (const { operationId } of OPERATIONS) print(operationId);
      return 0;
    }
    const { createOpenApiDocument } = await import('../protocol/openapi/document.ts');
    const { VLOC_BASE_URL: baseUrl = '', VLOC_HEADER_PREFIX: headerPrefix = '' } = io.env;
    const document = createOpenApiDocument({
      baseUrl: baseUrl === '' ? VERSION_PREFIX : baseUrl.replace(/\/+$/, ''),
      ...(headerPrefix === '' ? {} : { headerPrefix }),
    });
    print(output === 'ndjson' ? JSON.stringify(document) : JSON.stringify(document, null, 2));
    return 0;
  },
});
