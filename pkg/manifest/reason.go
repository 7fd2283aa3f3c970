package manifest

// The reasons of a Problem. They are API: never renamed.
const (
	// ReasonUnreadable: a file, directory or stream could not be read.
	ReasonUnreadable = "Unreadable"
	// ReasonTooLarge: an input is larger than MaxBytes.
	ReasonTooLarge = "TooLarge"
	// ReasonRemote: an input is a URL; only local inputs are read.
	ReasonRemote = "Remote"
	// ReasonNoFiles: a directory or pattern holds no manifest.
	ReasonNoFiles = "NoFiles"
	// ReasonKustomize: a kustomization could not be built, or was given as a
	// plain manifest.
	ReasonKustomize = "Kustomize"
	// ReasonUsage: the inputs as named make no sense together.
	ReasonUsage = "Usage"
	// ReasonNoObjects: the input as a whole holds no object.
	ReasonNoObjects = "NoObjects"

	// ReasonEncoding: the text is neither UTF-8 nor UTF-16 with a byte-order
	// mark.
	ReasonEncoding = "Encoding"
	// ReasonSyntax: the text is neither YAML nor JSON.
	ReasonSyntax = "Syntax"
	// ReasonAmbiguous: two common readers of YAML would read two different
	// values.
	ReasonAmbiguous = "Ambiguous"
	// ReasonDuplicateKey: a mapping has a key twice.
	ReasonDuplicateKey = "DuplicateKey"
	// ReasonNotJSON: legal YAML that has no JSON form (a tag, a key that is no
	// scalar, an infinite number).
	ReasonNotJSON = "NotJSON"
	// ReasonNumber: an integer beyond 64 bits, which would lose digits.
	ReasonNumber = "NumberOutOfRange"
	// ReasonTooDeep: nested deeper than MaxDepth.
	ReasonTooDeep = "TooDeep"

	// ReasonNotObject: a document or list entry is no mapping.
	ReasonNotObject = "NotObject"
	// ReasonNoKind: an object without apiVersion or kind.
	ReasonNoKind = "NoKind"
	// ReasonBadList: items where no list is, or a list without items.
	ReasonBadList = "BadList"
	// ReasonNoName: an object without a name.
	ReasonNoName = "NoName"
	// ReasonGenerateName: an object that only has a generateName, and is no
	// hook: apply has no identity for it.
	ReasonGenerateName = "GenerateName"
	// ReasonWrongType: a field of another JSON type than it must have.
	ReasonWrongType = "WrongType"
	// ReasonNotBase64: a Secret's data value is not base64.
	ReasonNotBase64 = "NotBase64"
	// ReasonMasked: a Secret's value was replaced by a mask before it came
	// here.
	ReasonMasked = "MaskedValue"

	// ReasonUnknownKind: neither the server nor a CRD of the set knows it.
	ReasonUnknownKind = "UnknownKind"
	// ReasonDuplicateObject: two objects of one identity.
	ReasonDuplicateObject = "DuplicateObject"
	// ReasonOtherNamespace: an object outside the only namespace asked for.
	ReasonOtherNamespace = "OtherNamespace"
)
