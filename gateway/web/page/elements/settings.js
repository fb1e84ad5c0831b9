// @ts-check
/** The settings and the shortcuts, each as a dialog. */
import { html } from '../dom.js';
import { SHORTCUTS } from '../shortcuts.js';
import { text } from '../texts.js';
import { openDialog } from './dialogs.js';
import './download-button.js';
import { languageChoice } from './language-choice.js';

/**
 * @param {import('../session.js').Session} session
 * @param {{onLanguage: () => void, onSignOut: () => void}} listeners
 */
export function openSettings(session, { onLanguage, onSignOut }) {
  const download = html('download-button');
  const dialog = openDialog(
    text('settings.title'),
    html(
      'div',
      { class: 'settings' },
      languageChoice(() => {
        dialog.close();
        onLanguage();
      }),
      session.canRead && session.browsingSupported ? download : null,
      session.canWrite
        ? null
        : html('p', { class: 'help' }, text(session.writesUnsupported ? 'act.unsupported' : 'settings.read_only')),
      html(
        'div',
        { class: 'settings-foot' },
        html('button', { type: 'button', class: 'button quiet', testid: 'shortcuts', onclick: () => openShortcuts() }, text('settings.shortcuts')),
        html(
          'button',
          {
            type: 'button',
            class: 'button',
            testid: 'signout',
            onclick: () => {
              dialog.close();
              onSignOut();
            },
          },
          text('settings.sign_out'),
        ),
      ),
      html('p', { class: 'version' }, text('settings.version', { version: session.version })),
    ),
  );
  download.show(session);
}

/** Shows which keys do what. */
export function openShortcuts() {
  openDialog(
    text('keys.title'),
    html(
      'dl',
      { class: 'keys', testid: 'shortcuts.list' },
      SHORTCUTS.map(([keys, words]) => html('div', {}, html('dt', {}, keyNames(keys)), html('dd', {}, text(words)))),
    ),
    html('p', { class: 'help' }, text('keys.swipe')),
  );
}

/** @param {string[]} keys */
function keyNames(keys) {
  return keys.flatMap((key, index) => [
    index > 0 ? ` ${text('keys.or')} ` : '',
    ...key.split(' ').flatMap((part, at) => [at > 0 ? ` ${text('keys.then')} ` : '', html('kbd', {}, part)]),
  ]);
}
