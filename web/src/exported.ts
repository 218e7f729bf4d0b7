/** Starts the page of an exported session, which has its data, scripts and styles inside. */
import { mount } from "svelte";
import "./view/exported/fonts.css";
import "./view/tokens.css";
import "./view/base.css";
import type { Transcript } from "./core/connection/documents.ts";
import ExportedPage from "./view/exported/ExportedPage.svelte";

const target = document.getElementById("app");
const text = document.getElementById("session")?.textContent ?? "";
if (target && !text.startsWith("null")) mount(ExportedPage, { target, props: { state: JSON.parse(text) as Transcript } });
else if (target) target.textContent = "This file has no session in it.";
