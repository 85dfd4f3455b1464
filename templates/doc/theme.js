// Before anything is painted: the theme that was chosen last time.
try {
  const chosen = localStorage.getItem("mf-theme");
  if (chosen === "dark" || chosen === "light") document.documentElement.dataset.theme = chosen;
} catch (refused) {
  // no storage: the system's theme
}
