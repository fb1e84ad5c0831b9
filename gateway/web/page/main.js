// @ts-check
/** The start of the page: the language, then the elements, which find the session and the view themselves. */
import { preferredLanguage, useLanguage } from './texts.js';

await useLanguage(preferredLanguage());
await import('./elements/memory-app.js');
