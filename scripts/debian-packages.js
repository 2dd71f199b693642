// Fetches packages of Debian and unpacks what they hold, without installing anything.
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, rmSync } from 'node:fs';
import path from 'node:path';

/**
 * Unpacks packages into a folder, unless they are there.
 *
 * @param {string} folder Holds `usr/` and what else the packages hold afterwards.
 * @param {readonly string[]} packages
 * @returns {boolean} False where there is no apt-get: then nothing was fetched.
 */
export function unpackPackages(folder, packages) {
  const unpacked = path.join(folder, 'usr');
  if (existsSync(unpacked)) return true;
  if (!hasProgram('apt-get') || !hasProgram('dpkg-deb')) return false;
  mkdirSync(folder, { recursive: true });
  try {
    download(folder, packages);
  } catch {
    // A new machine has no lists of packages yet.
    execFileSync('apt-get', ['update', '-qq'], { stdio: ['ignore', 'ignore', 'inherit'] });
    download(folder, packages);
  }
  try {
    for (const name of readdirSync(folder).filter((found) => found.endsWith('.deb'))) {
      execFileSync('dpkg-deb', ['--extract', path.join(folder, name), folder]);
      rmSync(path.join(folder, name));
    }
    return true;
  } catch (error) {
    // Half of it would pass for the whole the next time.
    rmSync(unpacked, { recursive: true, force: true });
    throw error;
  }
}

function download(folder, packages) {
  execFileSync('apt-get', ['download', '-qq', ...packages], { cwd: folder, stdio: ['ignore', 'ignore', 'pipe'] });
}

function hasProgram(name) {
  try {
    execFileSync(name, ['--version'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}
