if redis.call("get", KEYS[1]) ~= ARGV[1] then
	return 0
end
redis.call("hset", KEYS[2], ARGV[2], ARGV[3])
return 1
