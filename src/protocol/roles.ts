/** Role of one process of a service with a database: `api` answers requests, `worker` carries out jobs, `all` does both. */
export const ROLES = ['api', 'worker', 'all'] as const;
export type Role = (typeof ROLES)[number];
