// Brings what /proc gives elsewhere: only loaded where there is none.
import { installBootId } from './identity.ts';
import { installPs } from './process-table.ts';
import { readBootTime, readPs } from './process-table-ps.ts';

export function installForMac(): void {
  installPs(readPs);
  installBootId(readBootTime());
}
