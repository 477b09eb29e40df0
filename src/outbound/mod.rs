//! Commentary patterns and the splitter of wrapped text.
