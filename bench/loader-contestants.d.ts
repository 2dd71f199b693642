/** A peer, and the Python that runs it. */
export interface Peer {
  name: string;
  version: string;
  python: string;
}

export function choosePeers(environments: { python: string; versions: Record<string, string> }[]): Peer[];
