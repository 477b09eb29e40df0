//! Tool names, normalisation, collisions and search.
