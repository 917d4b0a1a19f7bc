// Start the page on the REST service.

import { service } from "./api.js";
import { Page } from "./page.js";

window.curiograph = new Page(service);
window.curiograph.open();
