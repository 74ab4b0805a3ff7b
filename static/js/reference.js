// Draws the OpenAPI document with Swagger UI, light or dark as the page is.
const root = document.documentElement;
const place = document.getElementById("reference");

function follow() {
  root.classList.toggle("dark-mode", root.dataset.bsTheme === "dark");
}

new MutationObserver(follow).observe(root, { attributeFilter: ["data-bs-theme"] });
follow();
window.SwaggerUIBundle({
  domNode: place,
  url: place.dataset.document,
  validatorUrl: null, // nothing is sent elsewhere
  deepLinking: true,
  docExpansion: "none",
  defaultModelsExpandDepth: -1,
  defaultModelRendering: "model",
  displayRequestDuration: true,
  filter: true,
  persistAuthorization: false,
  tagsSorter: "alpha",
});
