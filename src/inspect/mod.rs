//! Classifier seam: all of it is in the face (`js/inspect`). It calls one function of a caller's
//! object and hands on what that answers.
