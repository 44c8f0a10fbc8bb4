// Command tlog-go checks what the journal publishes with Go's own implementation of transparency logs.
//
//	tlog-go FOLDER
//
// FOLDER holds: key (public key of a note), old and new (signed checkpoints), leaf (leaf data),
// leaf.tlog-proof (its inclusion in new) and consistency (the proof between old and new, one base64 hash a line).
package main

import (
	"encoding/base64"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: tlog-go FOLDER")
		os.Exit(2)
	}
	if err := check(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, "refused:", err)
		os.Exit(1)
	}
	fmt.Println("accepted")
}

func check(folder string) error {
	files := map[string]string{}
	for _, name := range []string{"key", "old", "new", "leaf", "leaf.tlog-proof", "consistency"} {
		bytes, err := os.ReadFile(filepath.Join(folder, name))
		if err != nil {
			return err
		}
		files[name] = string(bytes)
	}
	verifier, err := note.NewVerifier(strings.TrimSpace(files["key"]))
	if err != nil {
		return fmt.Errorf("key: %w", err)
	}
	older, err := openCheckpoint(files["old"], verifier)
	if err != nil {
		return fmt.Errorf("old checkpoint: %w", err)
	}
	newer, err := openCheckpoint(files["new"], verifier)
	if err != nil {
		return fmt.Errorf("new checkpoint: %w", err)
	}
	if err := checkInclusion(files["leaf.tlog-proof"], []byte(files["leaf"]), newer, verifier); err != nil {
		return fmt.Errorf("inclusion: %w", err)
	}
	hashes, err := parseHashes(strings.Split(strings.TrimSpace(files["consistency"]), "\n"))
	if err != nil {
		return fmt.Errorf("consistency: %w", err)
	}
	if err := tlog.CheckTree(hashes, newer.N, newer.Hash, older.N, older.Hash); err != nil {
		return fmt.Errorf("consistency: %w", err)
	}
	return nil
}

// openCheckpoint opens a signed checkpoint. tlog.ParseTree knows only the header line of Go's own database, so the
// three lines of C2SP tlog-checkpoint are read here.
func openCheckpoint(signed string, verifier note.Verifier) (tlog.Tree, error) {
	opened, err := note.Open([]byte(signed), note.VerifierList(verifier))
	if err != nil {
		return tlog.Tree{}, err
	}
	lines := strings.Split(opened.Text, "\n")
	if len(lines) < 4 || lines[0] != verifier.Name() {
		return tlog.Tree{}, fmt.Errorf("not a checkpoint of %s", verifier.Name())
	}
	size, err := strconv.ParseInt(lines[1], 10, 64)
	if err != nil {
		return tlog.Tree{}, err
	}
	root, err := tlog.ParseHash(lines[2])
	return tlog.Tree{N: size, Hash: root}, err
}

func checkInclusion(text string, leaf []byte, tree tlog.Tree, verifier note.Verifier) error {
	head, signed, found := strings.Cut(text, "\n\n")
	lines := strings.Split(head, "\n")
	if !found || len(lines) < 2 || lines[0] != "c2sp.org/tlog-proof@v1" {
		return fmt.Errorf("not a tlog-proof")
	}
	proven, err := openCheckpoint(signed, verifier)
	if err != nil {
		return err
	}
	if proven != tree {
		return fmt.Errorf("it is for another checkpoint")
	}
	index, err := strconv.ParseInt(strings.TrimPrefix(lines[1], "index "), 10, 64)
	if err != nil {
		return err
	}
	hashes, err := parseHashes(lines[2:])
	if err != nil {
		return err
	}
	return tlog.CheckRecord(hashes, tree.N, tree.Hash, index, tlog.RecordHash(leaf))
}

func parseHashes(lines []string) ([]tlog.Hash, error) {
	var hashes []tlog.Hash
	for _, line := range lines {
		bytes, err := base64.StdEncoding.Strict().DecodeString(line)
		if err != nil || len(bytes) != tlog.HashSize {
			return nil, fmt.Errorf("%q is no hash", line)
		}
		hashes = append(hashes, tlog.Hash(bytes))
	}
	return hashes, nil
}
