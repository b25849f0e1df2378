package script_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/fencelint/fence/analyzers/internal/script"
)

// show writes a write briefly: DEL KEYS[1] if ARGV[1].
func show(w script.Write) string {
	s := w.Command + " " + w.Key
	if len(w.Args) > 0 {
		s += fmt.Sprint(" if ARGV", w.Args)
	}
	if w.Compared {
		s += " if compared"
	}
	return s
}

func TestParse(t *testing.T) {
	for _, tt := range []struct{ name, text, want string }{
		{"release that compares", `if redis.call("get", KEYS[1]) == ARGV[1] then return redis.call("del", KEYS[1]) else return 0 end`,
			"DEL KEYS[1] if ARGV[1]"},
		{"early return", `local v = redis.call("GET", KEYS[1])
			if v ~= ARGV[2] then return 0 end
			redis.call("SET", KEYS[2], ARGV[1])`, "SET KEYS[2] if ARGV[2]"},
		{"nothing compared", `redis.call("SET", KEYS[1], ARGV[1]); redis.call("DEL", KEYS[2])`, "SET KEYS[1]; DEL KEYS[2]"},
		{"member by argument", `if redis.call("LREM", KEYS[1], 0, ARGV[1]) == 0 then return redis.error_reply("NOT FOUND") end
			redis.call("DEL", KEYS[3])`, "LREM KEYS[1] if ARGV[1]; DEL KEYS[3] if ARGV[1]"},
		{"a later if does not guard what follows it", `local total = redis.call("GET", KEYS[5])
			if tonumber(total) == tonumber(ARGV[3]) then redis.call("SET", KEYS[5], 1) end
			redis.call("HSET", KEYS[1], "state", "done")`, "SET KEYS[5] if ARGV[3]; HSET KEYS[1]"},
		{"state", `if redis.call("HGET", KEYS[1], "state") ~= "active" then return 0 end
			redis.call("HSET", KEYS[1], "state", "done")`, "HSET KEYS[1] if compared"},
		{"absence", `if redis.call("EXISTS", KEYS[1]) == 1 then return 0 end
			redis.call("HSET", KEYS[1], "msg", ARGV[1])`, "HSET KEYS[1] if compared"},
		{"truth of a reply", `if not redis.call("GET", KEYS[1]) then redis.call("SET", KEYS[1], ARGV[1]) end`, "SET KEYS[1] if compared"},
		{"NX", `return redis.call("SET", KEYS[1], ARGV[1], "NX", "PX", ARGV[2])`, "SET KEYS[1] if compared"},
		{"an argument against a constant compares nothing", `if ARGV[2] == "1" then redis.call("DEL", KEYS[1]) end`, "DEL KEYS[1]"},
		{"decoded", `local job = cjson.decode(redis.call("GET", KEYS[1]))
			if job.owner == ARGV[1] then redis.call("SET", KEYS[1], ARGV[2]) end`, "SET KEYS[1] if ARGV[1]"},
		{"token by order", `local cur = tonumber(redis.call("GET", KEYS[2]) or "0")
			if cur > tonumber(ARGV[1]) then return -1 end
			redis.call("SET", KEYS[2], ARGV[1]) redis.call("SET", KEYS[1], ARGV[2])`,
			"SET KEYS[2] if ARGV[1]; SET KEYS[1] if ARGV[1]"},
		{"selected by what is stored", `local ids = redis.call("ZRANGEBYSCORE", KEYS[1], "-inf", ARGV[1])
			for _, id in ipairs(ids) do redis.call("ZREM", KEYS[1], id) redis.call("DEL", "job:" .. id) end`,
			"ZREM KEYS[1] if compared; DEL  if compared"},
		{"functions are not followed", `local function own() return redis.call("GET", KEYS[1]) == ARGV[1] end
			if own() then redis.call("DEL", KEYS[1]) end`, "DEL KEYS[1] if compared"},
		{"and", `if ARGV[2] == "x" and redis.call("GET", KEYS[1]) == ARGV[1] then redis.call("DEL", KEYS[1]) end`, "DEL KEYS[1] if ARGV[1]"},
		{"else", `if redis.call("GET", KEYS[1]) ~= ARGV[1] then return 0 else redis.call("DEL", KEYS[1]) end`, "DEL KEYS[1] if ARGV[1]"},
		{"reads only", `return redis.call("GET", KEYS[1])`, ""},
		{"no script", ``, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			ws, err := script.Parse(tt.text)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, w := range ws {
				got = append(got, show(w))
			}
			if s := strings.Join(got, "; "); s != tt.want {
				t.Errorf("got  %s\nwant %s", s, tt.want)
			}
		})
	}
}

func TestParseErrors(t *testing.T) {
	for name, text := range map[string]string{
		"syntax":          `if redis.call("GET", KEYS[1]) then`,
		"dynamic command": `redis.call(ARGV[1], KEYS[1])`,
		"too long":        strings.Repeat(" ", script.MaxLen+1),
		"too deep":        strings.Repeat("(", 300) + "1" + strings.Repeat(")", 300),
	} {
		if ws, err := script.Parse(text); err == nil {
			t.Errorf("%s: no error, %v", name, ws)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add(`if redis.call("get", KEYS[1]) == ARGV[1] then return redis.call("del", KEYS[1]) else return 0 end`)
	f.Add(`local a, b = redis.call("LREM", KEYS[1], 0, ARGV[1]); for i, v in pairs({a, b}) do redis.call("DEL", v) end`)
	f.Add(`while true do repeat local x = -#ARGV until x end goto y ::y:: function f(...) return ... end`)
	f.Fuzz(func(t *testing.T, text string) {
		ws, err := script.Parse(text)
		if err != nil && ws != nil {
			t.Errorf("writes beside an error: %v", ws)
		}
	})
}
