// Package edit changes YAML and JSON texts in place: only the lines that must
// change differ, byte for byte. Comments, order, quotes, indentation, flow
// style, block scalars, line ends, anchors and the final newline are kept. It
// is pure: bytes in, bytes out.
//
// Enter at Open, which reads a text into documents, then Replace, which makes
// one document mean another value; Remove and Append take away and add whole
// documents; New is the text of an object that has none yet.
//
// Replace walks the nodes of a document beside the value that it should have,
// and notes a splice wherever they differ; the splices make the new text, which
// is read again: it must mean exactly what was wanted, and all other documents
// must have kept their bytes. What cannot be done so is a Refusal with its
// line, never a text that means something else.
package edit
