/** Starts the app. */
import { mount } from "svelte";
import "./view/fonts.css";
import "./view/tokens.css";
import "./view/base.css";
import Root from "./view/Root.svelte";

const target = document.getElementById("app");
if (target) mount(Root, { target });
