/** Environment variables that vloc reads; the help topic and the documents are made from this table. */
export const ENVIRONMENT = {
  VLOC_BASE_URL: 'address of the service, ending in /v1; without it the embedded service is used',
  VLOC_KEY: 'public identifier of the API key',
  VLOC_SECRET: 'secret of the API key',
  VLOC_HEADER_PREFIX: "the service's header prefix, default X-Service",
  VLOC_STATE_DIR: 'folder of the embedded service, default below the XDG state folder',
  VLOC_DEBUG: '1 shows the stack of an error',
  NO_COLOR: 'any value switches colour off',
  FORCE_COLOR: 'any value but 0 switches colour on',
} as const;

export type EnvironmentName = keyof typeof ENVIRONMENT;
