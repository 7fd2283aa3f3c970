package plan

func irreversible(b Body) string { return "" }
