"""Rigid-body engines whose contact forces are mended, each imported only when used."""
