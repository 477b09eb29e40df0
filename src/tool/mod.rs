//! What a resolved tool is: its classes, trust class and defaults.
